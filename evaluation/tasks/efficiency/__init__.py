"""Task `efficiency`: what does a constraint cost a model that writes?"""
