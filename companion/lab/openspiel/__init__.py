"""The games for other people's bots: numbered actions, and an adapter to OpenSpiel (a development extra)."""
