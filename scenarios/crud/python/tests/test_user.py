"""What makes a user, and what makes none."""

import pytest

from crud.user import InvalidUserError, User


def test_a_user_is_read_whatever_the_order_and_the_white_space() -> None:
    assert User.from_json(b' { "age" : 150 ,  "name":"x", "email" : "y" } ') == User("x", "y", 150)


def test_a_row_is_written_in_order_and_escaped_no_more_than_needed() -> None:
    row = User('Zoë "\x01"', "<b>&/", 0).to_json(7)
    assert row.decode() == r'{"id":7,"name":"Zoë \"\u0001\"","email":"<b>&/","age":0}'


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"name":"a","name":"c","email":"b","age":1}', id="a field twice"),
        pytest.param(b'{"id":1,"name":"a","email":"b","age":1}', id="a field too many"),
        pytest.param(b'{"name":"a","email":"b"}', id="a field too few"),
        pytest.param(b'{"Name":"a","email":"b","age":1}', id="a field spelt otherwise"),
        pytest.param(b'{"name":"a","email":"b","age":1e1}', id="an exponent"),
        pytest.param(b'{"name":"a","email":"b","age":1.0}', id="a fraction"),
        pytest.param(b'{"name":"a","email":"b","age":true}', id="true for an age"),
        pytest.param(b'{"name":"a","email":"b","age":-1}', id="below 0"),
        pytest.param(b'{"name":"a","email":"b","age":151}', id="above 150"),
        pytest.param(b'{"name":"a","email":"b","age":NaN}', id="NaN"),
        pytest.param(b'{"name":1,"email":"b","age":1}', id="a number for a name"),
        pytest.param(rb'{"name":"\ud83d","email":"b","age":1}', id="half a surrogate pair"),
        pytest.param(rb'{"name":"\u0000","email":"b","age":1}', id="NUL"),
        pytest.param(b'{"name":"\xff","email":"b","age":1}', id="no UTF-8"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_another_body_makes_no_user(body: bytes) -> None:
    with pytest.raises(InvalidUserError):
        User.from_json(body)
