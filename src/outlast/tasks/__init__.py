"""The background-task machine: polls, answers, cancels and notifications of work that goes on elsewhere.

`decide` is pure: from a task and what just happened (`happenings`) to the task as it is from now on, and when which queue is due;
`polling`, `asking`, `wishes`, `announcing` and `notifying` are its parts, `rules` its waits. `desk` writes what was decided under the
row's revision and the lease's generation. `acts` is what is done under a lease and awaits only the store and the driver, so that
the simulation can step it; a `lane` serves one queue with slots, deadlines and renewals around the acts.

May import: `journal`, `ports`, `domain`.
To add one: a happening is a dataclass in `happenings` and a case in `decide`; a queue is a name in `Queue`, an act, and a lane in
`wiring/background.py`.
"""
