"""The validity rules, one file for each family; table.py lists every rule. How to write one: judge/rule.py."""
