"""The program behind the Thunderbird add-on (`thunderbird/`), and how the two are installed."""
