"""Java's names, where they are not written as its readers know them."""

from __future__ import annotations

import pytest

from touchstone.phase.profile.java_names import of_frame, of_method, of_symbol


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


@pytest.mark.parametrize(
    ("one", "other", "name"),
    [
        # JDK 17.0.15 and JDK 25.0.3 under async-profiler 4.4, two starts of one program each.
        ("N$$Lambda$6.0x00007fb7e8001228.apply", "N$$Lambda$6.0x00007ff810001228.apply", "N$$Lambda.apply"),
        ("N$$Lambda.0x0000000080041800.apply", "N$$Lambda.0x0000000096041800.apply", "N$$Lambda.apply"),
        (
            "java/lang/invoke/LambdaForm$DMH.0x0000000080043c00.invokeStatic",
            "java/lang/invoke/LambdaForm$DMH.0x0000000096043c00.invokeStatic",
            "java.lang.invoke.LambdaForm$DMH.invokeStatic",
        ),
        (
            "java/lang/String$$StringConcat.0x0000000080043800.concat",
            "java/lang/String$$StringConcat.0x0000000096043800.concat",
            "java.lang.String$$StringConcat.concat",
        ),
        ("a/B$$Lambda$14/1933863327.run", "a/B$$Lambda$9/87654321.run", "a.B$$Lambda.run"),
        ("jdk/proxy2/$Proxy57.find", "jdk/proxy3/$Proxy61.find", "jdk.proxy.$Proxy.find"),
        (
            "jdk/internal/reflect/GeneratedMethodAccessor12.invoke",
            "jdk/internal/reflect/GeneratedMethodAccessor9.invoke",
            "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
        ),
        (
            "a/Users$$EnhancerBySpringCGLIB$$8f21e4a0.find",
            "a/Users$$EnhancerBySpringCGLIB$$1b22cd03.find",
            "a.Users$$EnhancerBySpringCGLIB.find",
        ),
        ("a/Users$$SpringCGLIB$$0.find", "a/Users$$SpringCGLIB$$2.find", "a.Users$$SpringCGLIB.find"),
        ("a/User$HibernateProxy$x2hRk8Mq.getId", "a/User$HibernateProxy$Pq01aZbb.getId", "a.User$HibernateProxy.getId"),
    ],
)
def test_what_a_start_draws_is_no_part_of_a_name(one: str, other: str, name: str) -> None:
    assert of_frame(one) == of_frame(other) == name


@pytest.mark.parametrize(
    "name", ["a.B$1.run", "a.B$Inner$2.run", "a.Main.main$lambda$0", "N.lambda$main$1", "$Proxied.f"]
)
def test_what_a_compiler_numbers_stays(name: str) -> None:
    assert of_frame(name) == name
