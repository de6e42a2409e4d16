"""What secrets are called: the names of variables, fields and parameters whose values no file may hold."""

from __future__ import annotations

import re

_NAMES = re.compile(
    r"PASSW|PASSPHRASE|(^|_)PASS$|_PWD$|SECRET|TOKEN|CREDENTIAL|(API|ACCESS|PRIVATE|SIGNING)_?KEY|AUTHORIZATION|_AUTH$|"
    r"COOKIE",
    re.I,
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_WORD = re.compile(
    r"pass(word|wd|phrase|code)|pwd?|secrets?|tokens?|credentials?|authorization|sig(nature)?|jw[ts]|bearer|apikey|"
    r"[cx]srf|t?otp|pin|cv[cv]|s(ess)?id|(php|j)sess(ion)?id|assertion|hmac|psk"
)
"""One such word in a name makes it a secret's: `x-csrf-token`, `user[password]`, `accessToken`."""
_LAST_WORD = re.compile(r"auth|pass|sess(ion)?|cookie")
"""The last word, or the only one: `session` is a secret's name, `session_started` is not."""
_ENDS = re.compile(
    r"(token|secret|passwd|password|passphrase|signature|credentials?|sess(ion)?id|codeverifier|pincode|"
    r"saml(response|request)|"
    r"(api|access|secret|private|signing|subscription|auth|app|account|master|encryption|license|functions|session)key)$"
)
"""How a name ends without what separates its words: `clientsecret`, `Ocp-Apim-Subscription-Key`."""
_CODE = re.compile(
    r"auth(orization)?|verif(y|ication)|t?otp|mfa|sms|security|confirmation|access|pass|recovery|backup|login|factor"
)
"""A `code` next to such a word lets somebody in; one alone is OAuth's (RFC 6749, section 4.1.2)."""
_ABOUT = re.compile(
    r"types?|count|limits?|name|ur[il]|endpoint|expir(es|y|ation)|ttl|age|lifetime|length|hint|format|alg(orithm)?|"
    r"methods?|field|enabled|required|status|version|policy|at|in|window|budget"
)
"""As the last word: the value is about a secret, and none itself, as in `token_type`."""


def names_secret(name: str) -> bool:
    """Whether the name of a variable, field or parameter suggests a secret. `-` and `.` count as `_`."""
    return _NAMES.search(name.replace("-", "_").replace(".", "_")) is not None


def names_sent_secret(name: str) -> bool:
    """Whether a parameter, a field or a member of a request is called like a secret.

    Words such as `code` and `sig` are a secret's there, and nothing elsewhere: a log may say `code=500`.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or _ABOUT.fullmatch(words[-1]):
        return False
    if words[-1] == "code":
        return len(words) == 1 or any(map(_CODE.fullmatch, words))
    named = any(map(_SECRET_WORD.fullmatch, words)) or _LAST_WORD.fullmatch(words[-1])
    return bool(named or _ENDS.search("".join(words)))
