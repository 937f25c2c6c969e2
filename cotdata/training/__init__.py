"""Fine-tuning a student on traces: examples, lint, memory plan, the run itself.

from cotdata.training.sft import train_model
"""
