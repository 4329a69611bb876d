"""Addresses of model servers as people write them."""

import pytest

from stepsnb.llm.addresses import add_path, is_http, is_loopback, show_url, to_base_url

OLLAMA = "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize(
    ("given", "base_url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:9", "http://127.0.0.1:9/v1"),
        ("box", "http://box:11434/v1"),
        ("[::1]:5", "http://[::1]:5/v1"),
        (":5", "http://127.0.0.1:5/v1"),
        ("http://box", "http://box/v1"),
        ("https://box:8443/ollama/v1/", "https://box:8443/ollama/v1"),
    ],
)
def test_address_of_a_servers_own_variable_is_completed(given, base_url):
    assert to_base_url(given, OLLAMA) == base_url


@pytest.mark.parametrize(
    ("url", "is_here"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:80/v1", True),
        ("http://localhost.evil.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_loopback_addresses_are_known(url, is_here):
    assert is_loopback(url) is is_here


@pytest.mark.parametrize(
    "url", ["box:80", "ftp://box", "http://", "http://box:99999", "http://[::1", "http://\u202e.com/v1", ""]
)
def test_what_is_no_http_address_is_told(url):
    assert not is_http(url)


@pytest.mark.parametrize("base_url", ["http://box/v1", "http://box/v1/"])
def test_path_goes_below_the_base(base_url):
    assert add_path(base_url, "models") == "http://box/v1/models"


def test_query_of_an_address_stays_at_its_end():
    assert add_path("https://box/openai/v1?api-version=1", "models") == "https://box/openai/v1/models?api-version=1"


def test_shown_address_has_no_password_and_no_query():
    assert show_url("https://me:pw@box:1/v1?key=secret") == "https://box:1/v1"
