import asyncio
import functools
import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

import pandas as pd
import pytest
from pydantic import BaseModel, Field

import stepsnb
from stepsnb.errors import ErrorCode, InputError, ToolError
from stepsnb.tools import python_tool

from .conftest import Call, error_of


def lookup(city: str, days: int = 3, *, units: Literal["c", "f"] = "c") -> str:
    """Look up the forecast.

    The city is taken as written.

    Args:
        city: Name of the city,
            in English.
        days (int): How many days.
        units: Celsius or Fahrenheit.

    Returns:
        One line a day.

    Raises:
        KeyError: For an unknown city.
    """
    return f"{city} {days} {units}"


def test_schema_comes_from_hints_and_docstring() -> None:
    tool = python_tool(lookup)
    assert tool.name == "lookup"
    assert tool.description == (
        "Look up the forecast.\n\nThe city is taken as written.\n\nReturns:\n    One line a day."
    )
    assert tool.parameters == {
        "type": "object",
        "additionalProperties": False,
        "required": ["city"],
        "properties": {
            "city": {"type": "string", "description": "Name of the city, in English."},
            "days": {"type": "integer", "default": 3, "description": "How many days."},
            "units": {"type": "string", "enum": ["c", "f"], "default": "c", "description": "Celsius or Fahrenheit."},
        },
    }


def test_name_and_obligation_come_from_the_grant() -> None:
    tool = python_tool(lookup, name="forecast", required=True)
    assert (tool.name, tool.required, tool.is_read_only, tool.spills) == ("forecast", True, False, True)


async def test_defaults_are_the_functions_own(call: Call) -> None:
    assert (await call(python_tool(lookup), city="Bodø")).result.content == "Bodø 3 c"
    assert (await call(python_tool(lookup), city="Bodø", days=1, units="f")).result.content == "Bodø 1 f"


async def test_default_that_json_cannot_carry_is_kept(call: Call) -> None:
    marker = object()

    def show(value: Any = marker) -> bool:
        return value is marker

    assert (await call(python_tool(show))).result.content == "true"


async def test_wrong_type_is_told(call: Call) -> None:
    message = error_of(await call(python_tool(lookup), city="Bodø", days="many"))
    assert message.startswith("the call was not run: argument `days`: input should be a valid integer")


async def test_parameter_without_hint_takes_any_value(call: Call) -> None:
    def show(value):
        return repr(value)

    tool = python_tool(show)
    assert tool.parameters["properties"] == {"value": {}}
    assert (await call(tool, value=[1, None])).result.content == "[1, None]"


async def test_async_function_runs_on_the_loop(call: Call) -> None:
    async def where() -> bool:
        await asyncio.sleep(0)
        return threading.current_thread() is threading.main_thread()

    assert (await call(python_tool(where))).result.content == "true"


async def test_function_runs_in_a_thread(call: Call) -> None:
    def where() -> bool:
        return threading.current_thread() is threading.main_thread()

    assert (await call(python_tool(where))).result.content == "false"


async def test_function_that_returns_an_awaitable_is_awaited(call: Call) -> None:
    async def inner() -> str:
        return "inner"

    def outer() -> Any:
        return inner()

    assert (await call(python_tool(outer))).result.content == "inner"


class Shop:
    """A shop."""

    def __init__(self) -> None:
        self.sold: list[str] = []

    def sell(self, item: str) -> int:
        """Sell one item."""
        self.sold.append(item)
        return len(self.sold)

    def __call__(self, item: str) -> str:
        """Ask for an item."""
        return f"no {item}"


async def test_method_keeps_its_object(call: Call) -> None:
    shop = Shop()
    tool = python_tool(shop.sell)
    assert list(tool.parameters["properties"]) == ["item"]
    assert (await call(tool, item="cod")).result.content == "1"
    assert shop.sold == ["cod"]


async def test_callable_object_is_a_tool(call: Call) -> None:
    tool = python_tool(Shop(), name="ask_shop")
    assert tool.parameters["properties"] == {"item": {"type": "string"}}
    assert (await call(tool, item="cod")).result.content == "no cod"


class AsyncShop:
    async def __call__(self, item: str) -> bool:
        return threading.current_thread() is threading.main_thread()


async def test_async_callable_object_runs_on_the_loop(call: Call) -> None:
    assert (await call(python_tool(AsyncShop()), item="cod")).result.content == "true"


async def test_partial_function_has_its_name_and_docstring(call: Call) -> None:
    tool = python_tool(functools.partial(lookup, units="f"))
    assert tool.name == "lookup"
    assert tool.description.startswith("Look up the forecast.")
    assert (await call(tool, city="Bodø")).result.content == "Bodø 3 f"


async def test_decorated_function_keeps_its_parameters(call: Call) -> None:
    def logged(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return function(*args, **kwargs)

        return wrapper

    tool = python_tool(logged(lookup))
    assert list(tool.parameters["properties"]) == ["city", "days", "units"]
    assert (await call(tool, city="Bodø")).result.content == "Bodø 3 c"


async def test_parameters_may_have_names_of_pydantic_members(call: Call) -> None:
    def odd(schema: int, json: int, copy: int, model_config: int, _private: int) -> int:
        return schema + json + copy + model_config + _private

    called = await call(python_tool(odd), schema=1, json=2, copy=3, model_config=4, _private=5)
    assert called.result.content == "15"


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str
    price: float = Field(gt=0)


@dataclass
class Order:
    items: list[Item]
    colour: Colour


async def test_models_are_built_and_their_schema_stands_in_place(call: Call) -> None:
    def total(order: Order, discount: float | None = None) -> float:
        assert isinstance(order.items[0], Item)
        assert order.colour is Colour.RED
        return sum(item.price for item in order.items)

    tool = python_tool(total)
    assert "$ref" not in str(tool.parameters)
    order = tool.parameters["properties"]["order"]
    assert order["properties"]["items"]["items"]["properties"]["name"] == {"type": "string"}
    assert tool.parameters["properties"]["discount"] == {"type": "number"}
    called = await call(tool, order={"items": [{"name": "a", "price": 2}], "colour": "red"})
    assert called.result.content == "2.0"
    message = error_of(await call(tool, order={"items": [{"name": "a", "price": 0}], "colour": "red"}))
    assert "argument `order.items.0.price`: input should be greater than 0" in message


def test_annotated_text_describes_a_parameter() -> None:
    def show(port: Annotated[int, "Where it listens."], host: Annotated[str, Field(description="Which host.")]) -> None:
        pass

    properties = python_tool(show).parameters["properties"]
    assert properties["port"]["description"] == "Where it listens."
    assert properties["host"]["description"] == "Which host."


def test_function_without_docstring_is_described_by_name() -> None:
    def plain() -> None:
        pass

    assert python_tool(plain).description == "The Python function `plain`."


def positional(a: int, /) -> None: ...
def many(*values: int) -> None: ...
def any_names(**values: int) -> None: ...
def frames(data: pd.DataFrame) -> None: ...
def unread(data: "NoSuchType") -> None: ...  # noqa: F821 - the point
def yields():
    yield 1


async def yields_async():
    yield 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (positional, "`positional`: parameter `a` is positional only, and models pass arguments by name"),
        (many, "`many`: parameter `values` takes any number of arguments; take one list instead"),
        (any_names, "`any_names`: parameter `values` takes arguments of any name; take one dict instead"),
        (frames, "`frames`: a parameter has a type that JSON cannot carry"),
        (unread, "`unread`: a type hint cannot be read: name 'NoSuchType' is not defined"),
        (yields, "`yields`: it yields, and a tool returns one value; return a list instead"),
        (yields_async, "`yields_async`: it yields, and a tool returns one value; return a list instead"),
        (lambda: 1, "`<lambda>`: a name is 1 to 64 letters, digits, `_` and `-`; rename the function"),
        (dict.fromkeys, "`fromkeys`: "),
    ],
)
def test_function_a_model_cannot_call_is_refused(function: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        python_tool(function)
    assert str(caught.value).startswith(f"python tool {message}")


async def test_pins_are_invisible_and_override_what_the_model_sends(call: Call) -> None:
    tool = python_tool(lookup, pins={"days": "7", "units": "f"})
    assert list(tool.parameters["properties"]) == ["city"]
    assert (await call(tool, city="Oslo")).result.content == "Oslo 7 f"
    called = await call(tool, city="Oslo", days=1)
    assert called.result.content == "Oslo 7 f"


def test_pin_of_an_argument_the_function_has_not_is_told() -> None:
    with pytest.raises(InputError) as caught:
        python_tool(lookup, pins={"day": "7"})
    assert str(caught.value) == (
        "python tool `lookup`: `args:` pins an unknown argument `day` (did you mean `days`?); "
        "available: city, days, units"
    )


async def test_pin_that_does_not_fit_is_told(call: Call) -> None:
    message = error_of(await call(python_tool(lookup, pins={"days": "soon"}), city="Oslo"))
    assert message.startswith("the call was not run: argument `days`: input should be a valid integer")


def test_name_and_description_stand_in_for_the_functions_own() -> None:
    tool = python_tool(lookup, name="weather", description="The weather.")
    assert (tool.name, tool.description) == ("weather", "The weather.")


async def test_tool_error_says_its_code_and_whether_to_try_again(call: Call) -> None:
    def fail() -> None:
        raise ToolError("upstream 503", retryable=True)

    result = (await call(python_tool(fail))).result
    assert result.data == {"error": "upstream 503"}
    assert (result.code, result.retryable) == (ErrorCode.PROVIDER_ERROR, True)


def test_tool_error_is_part_of_the_public_names() -> None:
    assert stepsnb.ToolError is ToolError


async def test_result_over_a_narrow_bound_is_a_file_with_lines(call: Call) -> None:
    def numbers() -> dict[str, int]:
        return {f"n{number}": number for number in range(100)}

    called = await call(python_tool(numbers, max_output_bytes=500))
    assert called.spilled_to is not None
    assert "\n" in called.result.content
