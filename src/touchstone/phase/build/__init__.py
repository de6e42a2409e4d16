"""Builds each contender and meters it; the training run of an AOT cache."""
