"""Make chain-of-thought training sets and measure what they teach."""

__version__ = "0.1.0"
