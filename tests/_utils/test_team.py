from __future__ import annotations

import numpy as np

from graphprox._utils.team import Team, current_team, share_work


def test_process_alone_owns_all_rows_and_copies_nothing():
    team, array = current_team(), np.arange(3)
    team.copy_rows(array, team.all_rows(3))
    team.add_up(array)
    assert (team.rank, team.size, team.all_rows(3), team.any(False)) == (0, 1, [slice(0, 3)], False)
    assert array.tolist() == [0, 1, 2]


def test_work_is_shared_inside_the_block_alone():
    team = Team()
    with share_work(team):
        assert current_team() is team
    assert current_team() is not team
