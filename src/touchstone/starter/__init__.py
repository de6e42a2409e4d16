"""Small services to begin from, a folder for each kind of stack.

`touchstone new` copies one, with `@NAME@` and `@SCENARIO@` filled in.
"""
