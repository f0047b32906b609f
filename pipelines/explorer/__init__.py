"""The explorer: see, walk and solve in the browser."""
