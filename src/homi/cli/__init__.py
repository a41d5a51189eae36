"""Every command: fit predict evaluate cv explain export doctor data bench demo."""
