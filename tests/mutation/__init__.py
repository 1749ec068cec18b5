"""Mutation sampling: which small faults in the core do the tests notice?"""
