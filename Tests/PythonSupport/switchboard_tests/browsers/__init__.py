"""Browsers, the pages in them, and other real WebRTC clients."""
