"""An engine that is there, and fails as it is loaded."""


def load(_tokenizer, _options):
    raise OSError("libengine.so.1: cannot open shared object file")
