"""Credentials: found, and never repeated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.documents import Reason, Rejected
from curation.lint.credentials import FORMATS, find
from curation.rules.clean.secret import RULE
from tests.curation.rules.documents_made import CONTEXT, document

#: Letters and digits in no order that anyone would write down.
_MIXED = "q7Rw2Zt9Kx4Lm8Vb3Nc6Hd1Jf5Gs0Pp7Yy2Uu9Ii4Oo8Ee3Aa6Tt1Ww5Qq0Zz7Xx2Cc9Bb4"
_LETTERS = "QWERTZUIOPASDFGHJKLYXCVBNM"
_HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0" * 2


def _made() -> dict[str, str]:
    """Return one text in each format, put together here and nowhere else."""
    jot = "eyJ" + _MIXED[:20]
    return {
        "AWS access key id": "AK" + "IA" + _LETTERS[:16],
        "GitHub token": "gh" + "p_" + _MIXED[:36],
        "GitHub fine-grained token": "_".join(
            ("github", "pat", _MIXED[:22], _MIXED[:59])
        ),
        "GitLab token": "gl" + "pat-" + _MIXED[:20],
        "Hugging Face token": "h" + "f_" + _MIXED[:34],
        "Slack token": "xo" + "xb-" + "9081726354" + "-" + _MIXED[:24],
        "Slack webhook": "https://hooks.slack"
        ".com/services/T9081726A/B9081726B/" + _MIXED[:24],
        "Google API key": "AI" + "za" + _MIXED[:35],
        "Google OAuth client secret": "GOC" + "SPX-" + _MIXED[:28],
        "Stripe live key": "sk_" + "live_" + _MIXED[:24],
        "npm token": "np" + "m_" + _MIXED[:36],
        "PyPI token": "py" + "pi-AgE" + _MIXED[:60],
        "OpenAI key": "s" + "k-" + _MIXED[:20] + "T3Blbk" + "FJ" + _MIXED[:20],
        "Anthropic key": "sk-" + "ant-api03-" + _MIXED + _MIXED[:30],
        "SendGrid key": "S" + "G." + _MIXED[:22] + "." + _MIXED[:43],
        "DigitalOcean token": "dop" + "_v1_" + _HEX[:64],
        "Shopify token": "shp" + "at_" + _HEX[:32],
        "Azure storage key": "Account" + "Key=" + (_MIXED + _MIXED)[:86] + "==",
        "private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + _MIXED[:64],
        "JSON web token": jot + "." + jot + "." + _MIXED[:30],
    }


def test_every_format_has_an_example_here() -> None:
    """A format that is added is tested too."""
    assert set(_made()) == {each.name for each in FORMATS}


@pytest.mark.parametrize("name", sorted(_made()))
def test_each_format_is_found_anywhere(name: str) -> None:
    """In a description, deep in data, as a name, between other words."""
    secret = _made()[name]
    for schema, pointer in [
        ({"description": f"use {secret} here"}, "/description"),
        ({"examples": [{"a": ["x", secret]}]}, "/examples/0/a/1"),
        ({"properties": {secret: {}}}, "/properties"),
        ({"a/b": {"~": f"key='{secret}'", "big": 2**70}}, "/a~1b/~0"),
    ]:
        found = find(schema)
        assert found is not None
        assert (found.format, found.pointer) == (name, pointer)


@pytest.mark.parametrize("name", sorted(_made()))
def test_the_value_is_never_repeated(name: str) -> None:
    """The rejection names the format and the place only."""
    secret = _made()[name]
    made = document({"properties": {secret: {"default": secret}}})
    result = RULE.apply(made, CONTEXT)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.SECRET
    assert name in result.detail
    assert secret[8:] not in repr(result)


@pytest.mark.parametrize(
    "text",
    [
        "AK" + "IA" + "IOSFODNN7EXAMPLE",
        "gh" + "p_" + "x" * 36,
        "gh" + "p_" + "A" * 36,
        "AI" + "za" + "X" * 35,
        "h" + "f_" + "yourtokenyourtokenyourtokenyourtok",
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "a PRIVATE KEY in PEM format",
        "^gh[pousr]_[A-Za-z0-9]{36}$",
        "prefix" + "AK" + "IA" + _LETTERS[:16],
        "AK" + "IA" + _LETTERS[:20],
        "eyJ.eyJ.x",
        "sk_test_" + _MIXED[:24],
    ],
)
def test_placeholders_and_near_misses_are_no_credentials(text: str) -> None:
    """Documented examples, repeated characters, patterns, longer words."""
    assert find({"description": text}) is None


@given(
    st.recursive(
        st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_ordinary_text_is_no_credential(value: object) -> None:
    """Nothing crashes on any text, and chance makes no credential."""
    assert find(value) is None
