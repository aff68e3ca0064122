"""Shadow mode: chosen steps of a run are also made the way of a variant, beside the run, and what comes of it is recorded only.

The run does not wait for it, is not changed by it and does not fail with it. Nothing of it has an effect outside: tools that
only read are carried out, of others it is recorded what they would have been asked.

May import: `journal`, `ports`, `domain` and the rooms of `runs` beside it.
To add one: a measure of agreement is a function in `agreement`; another kind of step is one more `sees_...` of `Beside`.
"""
