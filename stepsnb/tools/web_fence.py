"""Which addresses a fetch may reach: public ones, or the hosts that a grant names; pure."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"),)
_NAT64_LOCAL = ipaddress.IPv6Network("64:ff9b:1::/48")
_NOT_PUBLIC = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "3fff::/20", "5f00::/16"))
)
"""What a standard library may not know yet (RFC 6890, 7526, 9637, 9602), and where Azure's machines find their host."""

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class FetchRefused(Exception):
    """An address that must not be reached; its text is for the model."""


@dataclass(frozen=True, slots=True)
class Fence:
    """What a grant's `allow:` lets through; without any host, whatever is public.

    A host that is named may have any address: whoever wrote its name meant that server.
    """

    allow: tuple[str, ...] = ()

    def names(self, host: str) -> bool:
        """Whether `host` is one of the named ones or below one; case and a final dot do not matter."""
        plain = _plain(host)
        address = _as_address(plain)
        for entry in map(_plain, self.allow):
            if plain == entry or (address is not None and address == _as_address(entry)):
                return True
            if address is None and _as_address(entry) is None and plain.endswith(f".{entry}"):
                return True
        return False

    def check_host(self, host: str) -> None:
        """Say no to a host that is not named, before anything is looked up. Raises: FetchRefused."""
        if self.allow and not self.names(host):
            raise FetchRefused(f"host `{host}` is not allowed; this tool reaches {self.words} only")

    def check_addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Say no to a host any of whose addresses is not public, unless it is named. Raises: FetchRefused."""
        if self.names(host):
            return
        for address in addresses:
            if not is_public(address):
                raise FetchRefused(
                    f"host `{host}` is in a private network or on this machine; this tool reaches public hosts only"
                )

    @property
    def words(self) -> str:
        """The named hosts as a sentence has them."""
        return f"{', '.join(f'`{entry}`' for entry in self.allow)} and their subdomains"


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, also when it carries an IPv4 address inside.

    Source: the IANA special-purpose address registries, as the standard library has them; RFC 6052 and RFC 8215
    (translated addresses), RFC 3056 (6to4), RFC 4380 (Teredo).
    """
    found = _as_address(address.partition("%")[0])
    return found is not None and all(_is_public(each) for each in (found, *_inside(found)))


def _is_public(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None or any(address in net for net in _NAT64):
            return True  # what is inside decides
        if address.is_site_local or address in _NAT64_LOCAL:
            return False
    if any(address.version == net.version and address in net for net in _NOT_PUBLIC):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _inside(address: _Address) -> list[ipaddress.IPv4Address]:
    """Return the IPv4 addresses that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if any(address in net for net in _NAT64):
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


def _plain(host: str) -> str:
    """A host as it is compared: without brackets, final dot and capitals, and in the letters of the wire.

    These are of IDNA 2008, as those of a request are; by the rules of 2003, `straße.de` would be `strasse.de`.
    """
    text = host.strip("[]").rstrip(".").lower()
    if text.isascii():
        return text
    import idna

    try:
        return idna.encode(text).decode("ascii")
    except idna.IDNAError:
        return text


def _as_address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
