"""Java's names, where they are not written as its readers know them."""

from __future__ import annotations

import pytest

from touchstone.phase.profile.java_names import of_method, of_symbol


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("java.util.HashMap::merge", "java.util.HashMap.merge"),
        ("long demo.spin.Spin::waste(long)", "demo.spin.Spin.waste"),
        (
            "java.util.HashMap$Node* java.util.HashMap::removeNode(int, java.lang.Object*)",
            "java.util.HashMap.removeNode",
        ),
        ("a.Config$$Lambda/0x4a0c06ececa2f6005b9f2474097f283b0::apply", "a.Config$$Lambda.apply"),
        ("Server::main", "Server.main"),
        ("_int_malloc", "_int_malloc"),
        ("[libc.so.6]", "[libc.so.6]"),
    ],
)
def test_a_native_images_function_is_called_as_the_jvms(symbol: str, name: str) -> None:
    assert of_symbol(symbol) == name


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("java/util/HashMap", "java.util.HashMap.get"),
        ("demo/Spin$$Lambda/0x000000007a040418", "demo.Spin$$Lambda.get"),
        ("demo/Spin$$Lambda$1+0x00007fbab0000c08/1933863327", "demo.Spin$$Lambda.get"),
    ],
)
def test_a_class_is_called_alike_in_every_start_of_a_jvm(class_name: str, name: str) -> None:
    assert of_method(class_name, "get") == name
