# The verbs of ./dev, one module each.
