"""The shapes of what the API takes and gives, for /openapi.json and for the types of the page.

What is taken is checked against them. What is given comes from the verbs of `service` as it is; that both agree is tested.

May import: `service`, `domain`.
To add one: a model here, named where a route takes or gives it.
"""
