"""Histories of conversations: many clients, random faults, and the check of what the clients were told."""
