import pytest

from stepsnb.tools.web_fence import Fence, FetchRefused, is_public

DOCS = Fence(("docs.example",))


@pytest.mark.parametrize("host", ["docs.example", "api.docs.example", "DOCS.example.", "a.b.Docs.Example"])
def test_named_host_and_its_subdomains_are_let_through(host: str) -> None:
    assert DOCS.names(host)
    DOCS.check_host(host)


@pytest.mark.parametrize(
    "host", ["notdocs.example", "docs.example.evil.test", "example", "docs.exampl", "10.1.2.3", "127.0.0.1", ""]
)
def test_any_other_host_is_refused_naming_the_list(host: str) -> None:
    with pytest.raises(FetchRefused, match=r"`docs\.example` and their subdomains"):
        DOCS.check_host(host)


def test_address_that_is_named_has_no_subdomains() -> None:
    fence = Fence(("127.0.0.1",))
    assert fence.names("127.0.0.1")
    assert not fence.names("1.127.0.0.1")
    assert not fence.names("x.127.0.0.1")


def test_ipv6_address_is_known_in_each_spelling() -> None:
    fence = Fence(("::1",))
    assert fence.names("[::1]")
    assert fence.names("0:0:0:0:0:0:0:1")
    assert not fence.names("::2")


def test_international_name_is_known_in_both_spellings() -> None:
    assert Fence(("bücher.example",)).names("xn--bcher-kva.example")
    assert Fence(("xn--bcher-kva.example",)).names("Bücher.example")


def test_name_of_another_host_by_older_rules_is_refused() -> None:
    assert not Fence(("strasse.example",)).names("straße.example")
    assert Fence(("straße.example",)).names("xn--strae-oqa.example")
    assert not Fence(("straße.example",)).names("strasse.example")


def test_without_a_list_every_name_may_be_looked_up() -> None:
    Fence().check_host("anything.example")


PRIVATE = [
    "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "192.0.2.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1",
    "2002:7f00:1::", "2002:c0a8:101::1",
    "192.0.0.8", "192.88.99.1", "168.63.129.16", "::ffff:168.63.129.16", "3fff::1", "5f00::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(FetchRefused, match="public hosts only"):
        Fence().check_addresses("inner.example", ["93.184.216.34", address])


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_address_is_let_through(address: str) -> None:
    assert is_public(address)
    Fence().check_addresses("outer.example", [address])


@pytest.mark.parametrize("address", PRIVATE)
def test_host_that_is_named_may_have_any_address(address: str) -> None:
    DOCS.check_addresses("api.docs.example", [address])


def test_named_list_does_not_open_private_addresses_to_others() -> None:
    with pytest.raises(FetchRefused):
        DOCS.check_addresses("other.example", ["10.0.0.1"])
