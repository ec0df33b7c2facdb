"""A made-up credential in each format, put together here and nowhere else."""

from __future__ import annotations

#: Letters and digits in no order that anyone would write down.
MIXED = "q7Rw2Zt9Kx4Lm8Vb3Nc6Hd1Jf5Gs0Pp7Yy2Uu9Ii4Oo8Ee3Aa6Tt1Ww5Qq0Zz7Xx2Cc9Bb4"
LETTERS = "QWERTZUIOPASDFGHJKLYXCVBNM"
_HEX = "9f8e7d6c5b4a39281706f5e4d3c2b1a0" * 2


def examples() -> dict[str, str]:
    """Return one text in each format, by the format's name."""
    jot = "eyJ" + MIXED[:20]
    return {
        "AWS access key id": "AK" + "IA" + LETTERS[:16],
        "GitHub token": "gh" + "p_" + MIXED[:36],
        "GitHub fine-grained token": "_".join(
            ("github", "pat", MIXED[:22], MIXED[:59])
        ),
        "GitLab token": "gl" + "pat-" + MIXED[:20],
        "Hugging Face token": "h" + "f_" + MIXED[:34],
        "Slack token": "xo" + "xb-" + "9081726354" + "-" + MIXED[:24],
        "Slack webhook": "https://hooks.slack"
        ".com/services/T9081726A/B9081726B/" + MIXED[:24],
        "Google API key": "AI" + "za" + MIXED[:35],
        "Google OAuth client secret": "GOC" + "SPX-" + MIXED[:28],
        "Stripe live key": "sk_" + "live_" + MIXED[:24],
        "npm token": "np" + "m_" + MIXED[:36],
        "PyPI token": "py" + "pi-AgE" + MIXED[:60],
        "OpenAI key": "s" + "k-" + MIXED[:20] + "T3Blbk" + "FJ" + MIXED[:20],
        "Anthropic key": "sk-" + "ant-api03-" + MIXED + MIXED[:30],
        "SendGrid key": "S" + "G." + MIXED[:22] + "." + MIXED[:43],
        "DigitalOcean token": "dop" + "_v1_" + _HEX[:64],
        "Shopify token": "shp" + "at_" + _HEX[:32],
        "Azure storage key": "Account" + "Key=" + (MIXED + MIXED)[:86] + "==",
        "private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + MIXED[:64],
        "JSON web token": jot + "." + jot + "." + MIXED[:30],
        "OpenRouter key": "sk-" + "or-v1-" + _HEX[:64],
        "Groq key": "gs" + "k_" + MIXED[:52],
        "xAI key": "xa" + "i-" + (MIXED + MIXED)[:80],
        "Replicate token": "r" + "8_" + MIXED[:37],
        "NVIDIA key": "nv" + "api-" + MIXED[:64],
        "Fireworks key": "f" + "w_" + MIXED[:24],
        "Together key": "tg" + "p_v1_" + MIXED[:43],
        "Google OAuth token": "ya" + "29." + MIXED[:64],
    }
