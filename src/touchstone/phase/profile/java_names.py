"""Java's names, where they are not written as its readers know them."""

from __future__ import annotations

import re

_FUNCTION = re.compile(r"([^\s(*&]+)::([^\s(:]+)")
_DRAWN = [
    # A lambda, a method handle or a concatenation: `$$Lambda$6.0x00007f...`, `$$Lambda/0x...`, `LambdaForm$MH+0x.../1`.
    (re.compile(r"(\$\d+)?[/+.]0x[0-9a-f]+(/\d+)?"), ""),
    # A lambda of JDK 8: `$$Lambda$6/1933863327`.
    (re.compile(r"(\$\$Lambda)\$\d+([/.]\d+)?"), r"\1"),
    # A proxy of the JDK: `jdk/proxy2/$Proxy57`.
    (re.compile(r"\b(jdk[/.]proxy)\d+|(\$Proxy)\d+"), r"\1\2"),
    # What reflection made of a method that was called often: `GeneratedMethodAccessor12`.
    (re.compile(r"(Generated\w*Accessor)\d+"), r"\1"),
    # A subclass by CGLIB, Spring or Guice: `$$EnhancerBySpringCGLIB$$8f21e4a0`, `$$SpringCGLIB$$0`.
    (re.compile(r"(\$\$\w+?)\$\$[0-9a-f]+\b"), r"\1"),
    # A subclass by Byte Buddy or Javassist: `$ByteBuddy$4FxtXbmL`, `$HibernateProxy$x2hRk8Mq`, `_$$_jvst3f2_0`.
    (re.compile(r"(\$(?:ByteBuddy|HibernateProxy|HibernateInstantiator|MockitoMock))\$\w+|(_\$\$_jvst)\w+"), r"\1\2"),
]
"""The part of a generated class's name that differs between classes: random or counted in each start of a JVM, and for
each native image."""


def stable_name(name: str) -> str:
    """A class or method name that is the same at every start of its program."""
    for drawn, kept in _DRAWN:
        name = drawn.sub(kept, name)
    return name


def of_symbol(symbol: str) -> str:
    """A native image's `java.util.HashMap::get`, as in C++, with or without its types: `java.util.HashMap.get`."""
    found = _FUNCTION.search(symbol)
    return stable_name(f"{found[1]}.{found[2]}") if found else symbol


def of_method(class_name: str, method: str) -> str:
    """A method of `java/util/HashMap`, as class files have it: `java.util.HashMap.get`."""
    return of_frame(f"{class_name}.{method}")


def of_frame(frame: str) -> str:
    """The same in one word, as async-profiler has it: `java/util/HashMap.get`."""
    return stable_name(frame).replace("/", ".")
