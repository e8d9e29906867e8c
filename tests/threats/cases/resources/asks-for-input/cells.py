# %% top
import sys

words = input("Your name? ")
