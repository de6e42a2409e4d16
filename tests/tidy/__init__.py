"""The house's own rules, enforced: the map of rooms, limits, prose that names only what exists, tests of every rule.

Each check is a function from a folder to the breaches found below it, and has a test that plants one.
"""
