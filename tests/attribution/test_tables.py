"""Each row of the tables finds its example, and stacks go where a person would put them."""

from __future__ import annotations

import pytest

from touchstone.attribution.category import Category
from touchstone.attribution.table import Attribution, CategoryPattern, table, table_names

ROWS = [(name, row) for name in table_names() for row in table(name)]


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}-{row.example}" for name, row in ROWS])
def test_a_row_is_the_first_of_its_table_to_find_its_example(name: str, row: CategoryPattern) -> None:
    found = next(other for other in table(name) if other.anywhere == row.anywhere and other.pattern.search(row.example))
    assert found is row


GO = ["app", "runtime.goexit.abi0", "net/http.(*conn).serve", "main.handler"]
JVM = ["qtp", "java.lang.Thread.run", "org.eclipse.jetty.server.Server.handle"]


@pytest.mark.parametrize(
    ("language", "stack", "category", "owner"),
    [
        ("go", [*GO], Category.APPLICATION, "main.handler"),
        ("go", [*GO, "strings.ToUpper", "runtime.memmove"], Category.APPLICATION, "main.handler"),
        ("go", [*GO, "runtime.mallocgc"], Category.ALLOCATOR, "main.handler"),
        ("go", [*GO, "encoding/json.Marshal", "reflect.Value.Field"], Category.SERIALISATION, "encoding/json.Marshal"),
        ("go", [*GO[:3], "os.(*File).Write", "ksys_write_[k]", "tcp_ack_[k]", "_raw_spin_lock_[k]"],
         Category.KERNEL_NETWORK, "net/http.(*conn).serve"),
        ("go", ["app", "runtime.mcall", "runtime.park_m", "runtime.schedule"], Category.SCHEDULER, "runtime.schedule"),
        ("go", ["app", "runtime.systemstack", "runtime.gcBgMarkWorker.func2", "runtime.scanobject"],
         Category.GC, "runtime.scanobject"),
        ("go", [*GO, "vfs_read_[k]"], Category.KERNEL_OTHER, "main.handler"),
        ("go", [*GO, "futex_[k]", "__schedule_[k]", "finish_task_switch.isra.0_[k]"],
         Category.KERNEL_SCHEDULING, "main.handler"),
        ("jvm", ["C2 CompilerThread", "start_thread", "thread_native_entry"], Category.JIT, "start_thread"),
        ("jvm", [*JVM, "users.Routes.find", "java.lang.String.equals"], Category.APPLICATION, "users.Routes.find"),
        ("jvm", [*JVM, "users.Routes.find", "C1 Runtime slow_subtype_check_blob"],
         Category.APPLICATION, "users.Routes.find"),
        ("jvm", [*JVM, "users.Routes.find", "C2 Runtime new_instance_blob"], Category.ALLOCATOR, "users.Routes.find"),
        ("jvm", [*JVM, "users.Routes.find", "org.sqlite.core.NativeDB.step", "sqlite3_step"],
         Category.DATABASE, "sqlite3_step"),
        ("rust", ["tokio-rt-worker", "users::store::find", "rusqlite::row::Rows::next", "sqlite3VdbeExec"],
         Category.DATABASE, "sqlite3VdbeExec"),
        ("rust", ["tokio-rt-worker", "users::http::get", "alloc::vec::Vec<T>::push", "__rust_realloc", "_int_malloc"],
         Category.ALLOCATOR, "users::http::get"),
        ("rust", ["tokio-rt-worker", "users::http::get", "<alloc::string::String::push as core::ops::Fn>::call"],
         Category.APPLICATION, "users::http::get"),
        ("go", ["app", "runtime.goexit1.abi0"], Category.LIBRARY, "runtime.goexit1.abi0"),
        ("go", ["app", "nobody_knows_it"], Category.UNMATCHED, "nobody_knows_it"),
    ],
)  # fmt: skip
def test_a_stack_goes_where_a_person_would_put_it(
    language: str, stack: list[str], category: Category, owner: str
) -> None:
    placed = Attribution([language], ["main.", "users.", "users::"]).place(stack)
    assert (placed.category, placed.owner) == (category, owner)


def test_a_language_without_a_table_has_the_kernel_and_the_c_library() -> None:
    unknown = Attribution(["no-such-language"])
    assert unknown.place(["x", "main", "tcp_sendmsg_[k]"]).category is Category.KERNEL_NETWORK
    assert unknown.place(["x", "main", "_int_malloc"]).category is Category.ALLOCATOR
    assert unknown.place(["x", "program"]).category is Category.UNMATCHED
