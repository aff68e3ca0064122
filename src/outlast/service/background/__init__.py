"""Background tasks and the conversations they belong to: how runs begin them, how threads are told, what people may ask.

Here the two machines meet: what a run does to a task, and a task to a thread, is one commit.

May import: what `service` may.
To add one: a verb for people goes into `verbs`, with its shape in `public`.
"""
