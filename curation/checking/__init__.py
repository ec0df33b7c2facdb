"""What is wrong with a schema file, as a linter would say it?"""
