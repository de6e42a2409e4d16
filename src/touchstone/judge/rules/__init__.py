"""The validity rules, one a file. A new file here is a new rule: see judge/rule.py."""
