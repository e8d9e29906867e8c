"""Tasks of chapter 03, Text as tensors."""
