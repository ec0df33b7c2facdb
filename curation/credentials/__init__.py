"""What is a credential, and how does it never leave this process?"""
