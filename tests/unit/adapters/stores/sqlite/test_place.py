"""Where a store may lie."""

import stat
from pathlib import Path

import pytest

from outlast.adapters.stores.sqlite import place
from outlast.adapters.stores.sqlite.place import must_be_possible, network_file_system, prepare_file
from outlast.domain.errors import CallerMistake

MOUNTS = [
    "/dev/vda / ext4 rw,relatime 0 0",
    "tmpfs /tmp tmpfs rw 0 0",
    "server:/export /mnt/nfs nfs4 rw,vers=4.2 0 0",
    "/dev/vdb /mnt/nfs/local ext4 rw 0 0",
    "//server/share /mnt/with\\040blank cifs rw 0 0",
    "ann@host: /mnt/ssh fuse.sshfs rw 0 0",
    "C:\\134 /mnt/c 9p rw,trans=fd,rfd=5 0 0",
    "host /mnt/plan9 9p rw,trans=tcp,port=564 0 0",
    "/dev/vdc /mnt/again ext4 rw 0 0",
    "server:/x /mnt/again nfs rw 0 0",
    "nonsense",
]


@pytest.mark.parametrize(
    ("directory", "kind"),
    [
        ("/home/ann", None),
        ("/tmp/x", None),
        ("/mnt/nfs", "nfs4"),
        ("/mnt/nfs/deep/er", "nfs4"),
        ("/mnt/nfs/local/db", None),
        ("/mnt/nfs2", None),
        ("/mnt/with blank/x", "cifs"),
        ("/mnt/ssh/x", "fuse.sshfs"),
        ("/mnt/c/Users", None),
        ("/mnt/plan9", "9p"),
        ("/mnt/again/x", "nfs"),
    ],
)
def test_network_file_systems_are_told_from_local_ones(directory: str, kind: str | None) -> None:
    assert network_file_system(Path(directory), MOUNTS) == kind


def test_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "network_file_system", lambda _directory, _mounts: "nfs")
    with pytest.raises(CallerMistake, match="network file system") as refused:
        prepare_file(tmp_path / "outlast.db")
    assert refused.value.code == "store_path"
    assert "postgres" in refused.value.next_step
    assert not (tmp_path / "outlast.db").exists()


def test_a_new_file_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "outlast.db"
    prepare_file(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "outlast.db"
    path.write_bytes(b"content")
    path.chmod(0o640)
    prepare_file(path)
    assert path.read_bytes() == b"content"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("place_of_file", ["/proc/outlast/outlast.db", "/dev/null/outlast.db"])
def test_a_place_that_cannot_hold_a_file_is_refused(place_of_file: str) -> None:
    with pytest.raises(CallerMistake, match="cannot be opened") as refused:
        prepare_file(Path(place_of_file))
    assert refused.value.code == "store_path"
    assert "persistence.path" in refused.value.next_step


def test_a_directory_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(CallerMistake, match="cannot be opened"):
        prepare_file(tmp_path)


def test_a_place_below_a_file_can_hold_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CallerMistake, match="file is no folder"):
        must_be_possible(tmp_path / "file" / "deep" / "outlast.db")
    must_be_possible(tmp_path / "none" / "deep" / "outlast.db")
    with pytest.raises(CallerMistake, match="it is a folder"):
        must_be_possible(tmp_path)
