"""An engine whose library is not installed."""

ABOUT = {
    "distribution": "csbdata-no-such-engine",
    "summary": "Is not there.",
    "install": "csbdata-no-such-engine>=2",
}


def load(_tokenizer, _options):
    import csbdata_no_such_engine

    return csbdata_no_such_engine
