"""What requests cost a store. Seconds of the server's CPU are measured by `python -m bench costs` and written down here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """One store on one machine, in seconds unless the name says otherwise.

    `cores` serve requests side by side. Up to `group` requests that are there at the same moment share one sync.
    `claim_user` is paid for every entry that is claimed and once more, for each user that has something due.
    `hear` is paid for every listener of every notice; a notice is heard after `hearing`.
    """

    name: str
    cores: int
    group: int
    sync: float
    reach: float
    commit: float
    claim: float
    claim_entry: float
    claim_user: float
    renew: float
    renew_lease: float
    look: float
    read: float
    hear: float
    hearing: float


SQLITE = Costs(
    name="sqlite",
    cores=1,
    group=1,
    sync=200e-6,
    reach=0.0,
    commit=60e-6,
    claim=55e-6,
    claim_entry=55e-6,
    claim_user=2e-6,
    renew=35e-6,
    renew_lease=5e-6,
    look=33e-6,
    read=65e-6,
    hear=0.0,
    hearing=0.01,
)
POSTGRES = Costs(
    name="postgres",
    cores=4,
    group=256,
    sync=250e-6,
    reach=500e-6,
    commit=220e-6,
    claim=160e-6,
    claim_entry=210e-6,
    claim_user=5e-6,
    renew=160e-6,
    renew_lease=8e-6,
    look=50e-6,
    read=45e-6,
    hear=25e-6,
    hearing=500e-6,
)
REDIS = Costs(
    name="redis",
    cores=1,
    group=1000,
    sync=250e-6,
    reach=500e-6,
    commit=50e-6,
    claim=50e-6,
    claim_entry=45e-6,
    claim_user=6e-6,
    renew=10e-6,
    renew_lease=20e-6,
    look=13e-6,
    read=13e-6,
    hear=5e-6,
    hearing=500e-6,
)
STORES = (SQLITE, POSTGRES, REDIS)
"""Measured on 2 cores of an AMD EPYC, Linux 6.18, Python 3.11, PostgreSQL 18 and Valkey 9; `cores` and `reach` are assumed."""
