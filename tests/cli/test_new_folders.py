"""A command that fails leaves no empty folder behind, and none of the user's."""

from __future__ import annotations

from graphprox.cli.new_folders import forget_new_folders, remove_new_folders, watch_new_folders


def test_folders_that_exist_or_hold_a_file_stay(tmp_path):
    old, new, filled = tmp_path / "old", tmp_path / "new", tmp_path / "filled"
    old.mkdir()
    watch_new_folders(old, new / "inner", filled, None)
    (new / "inner" / "empty").mkdir(parents=True)
    filled.mkdir()
    (filled / "result").touch()
    remove_new_folders()
    assert sorted(tmp_path.iterdir()) == [filled, old]


def test_folders_of_an_earlier_command_stay(tmp_path):
    watch_new_folders(tmp_path / "new")
    (tmp_path / "new").mkdir()
    forget_new_folders()
    remove_new_folders()
    assert (tmp_path / "new").exists()


def test_failed_command_leaves_no_folder(run, tmp_path):
    code, _, err = run(
        "embed", tmp_path / "missing.csv", "--out", tmp_path / "new" / "emb.npy", "--model", tmp_path / "m"
    )
    assert (code, "does not exist" in err) == (2, True)
    assert not list(tmp_path.iterdir())
