# SPDX-License-Identifier: BSD-3-Clause
"""What maint/bench is made of: the catalogue of works, the programs and their peers, measuring, and reporting."""
