"""How tables and manifests lie on disk."""
