"""Addresses: what they say of the server and of us, and what of them is shown."""

import pytest

from outlast.adapters.stores.postgres.address import read_address
from outlast.domain.errors import CallerMistake

URL = "postgresql://ann:canary@db.example:6432/runs"


def test_our_parameters_are_taken_out_and_the_servers_are_left() -> None:
    address = read_address(
        f"{URL}?sslmode=require&schema=mine&pooler=transaction&direct=10.0.0.7:5432&connections=9"
    )
    assert address.dsn == f"{URL}?sslmode=require"
    assert (address.schema, address.is_pooled, address.connections) == ("mine", True, 9)
    assert address.direct == ("10.0.0.7", 5432)
    assert address.can_listen


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, "db.example:6432/runs"),
        ("postgres://db.example/runs", "db.example/runs"),
        ("postgresql://ann@/runs?host=/run/postgres", "/run/postgres/runs"),
        ("postgresql:///runs", "localhost/runs"),
    ],
)
def test_what_is_shown_has_no_credentials(url: str, shown: str) -> None:
    address = read_address(url)
    assert address.shown == shown
    assert "canary" not in repr(address)
    assert (address.schema, address.is_pooled, address.direct) == ("outlast", False, None)


def test_behind_a_pooler_nothing_is_heard_without_a_way_around() -> None:
    assert not read_address(f"{URL}?pooler=transaction").can_listen
    assert read_address(f"{URL}?pooler=session").can_listen
    assert read_address(f"{URL}?pooler=transaction&direct=[::1]:5432").direct == ("::1", 5432)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "db.example:5432",
        "mysql://ann:canary@h/d",
        "postgresql://ann:canary@h:port/d",
        f"{URL}?schema=",
        f"{URL}?schema=Mine",
        f"{URL}?schema=x;drop",
        f"{URL}?schema=pg_x",
        f"{URL}?schema={'x' * 41}",
        f"{URL}?pooler=statement",
        f"{URL}?direct=nowhere",
        f"{URL}?connections=0",
        f"{URL}?connections=many",
        f"{URL}?schema",
    ],
)
def test_an_address_that_is_none_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(CallerMistake) as refused:
        read_address(url)
    assert refused.value.code == "store_url"
    assert "postgresql://" in refused.value.next_step
    assert "canary" not in str(refused.value)
