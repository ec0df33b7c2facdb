"""A Hugging Face Hub on loopback: what `huggingface_hub` really asks for, in memory.

    with fake_hub() as hub:
        hub.allow("hf_token", "write")
        ...  # a client with HF_ENDPOINT=hub.endpoint and HF_HUB_DISABLE_XET=1
        hub.store.view("owner/name", "main")

Written from the requests of huggingface_hub 2.4 over its LFS path; the Xet path is
not here. `python -m tests.fake_hub` runs one to try things by hand.
"""

from tests.fake_hub.server import FakeHub, fake_hub

__all__ = ["FakeHub", "fake_hub"]
