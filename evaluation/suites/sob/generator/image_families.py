"""Families of the image source: pages as OCR gives them, with what stands around."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluation.suites.sob.generator.drafts import (
    Draft,
    cents,
    closed,
    described,
    listed,
    nullable,
    one_of,
    opened,
    written,
)
from evaluation.suites.sob.generator.facts import (
    absent,
    affirmed,
    denied,
    derived,
    stated,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evaluation.suites.sob.generator.drafts import Draw


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def invoice(draw: Draw) -> Draft:
    """An invoice with its lines, among the figures of the last one."""
    seller, buyer = draw.company(), draw.company()
    number = (
        f"{draw.random.choice('ABCDE')}{draw.number(1000, 9999)}-{draw.number(10, 99)}"
    )
    issued = draw.day(2012, 2024)
    rows, lines, amounts = [], [], []
    for goods in draw.words("goods", draw.number(2, 4)):
        quantity, price = draw.number(2, 60), draw.number(120, 9_900) / 100
        amount = round(quantity * price, 2)
        row = [goods, str(quantity), cents(price), cents(amount)]
        quote = f"| {' | '.join(row)} |"
        rows.append(row)
        amounts.append(amount)
        lines.append(
            {
                "description": stated(goods, quote),
                "quantity": stated(quantity, quote),
                "unit_price": stated(price, quote),
                "amount": stated(amount, quote),
            }
        )
    total = round(sum(amounts), 2)
    currency = draw.random.choice(["EUR", "GBP", "USD"])
    paid = draw.chance()
    stamp = "PAID IN FULL, WITH THANKS" if paid else "This invoice has not been paid"
    has_order = draw.chance()
    order = f"PO-{draw.number(100, 999)}"
    head = f"INVOICE No. {number}"
    dated = f"Date of issue: {issued:%d.%m.%Y}"
    sold = f"From: {seller}"
    bought = f"Bill to: {buyer}"
    total_line = f"Total due ({currency}): {cents(total)}"
    order_line = f"Your order: {order}\n" if has_order else ""
    context = (
        f"Page 1 of 1\n\n# {head}\n\n{sold}\n{bought}\n{dated}\n{order_line}\n"
        f"{_table(['Description', 'Qty', 'Unit price', 'Amount'], rows)}\n\n"
        f"{total_line}\n\n{stamp}.\n\n"
        f"Balance of the previous statement: {cents(total + draw.number(5, 900))} "
        f"({currency}), settled on {written(draw.day(2008, 2011))}.\n\n"
        f"--- {seller}, {draw.word('town')} --- all prices exclude carriage ---"
    )
    return Draft(
        context=context,
        question=(
            "Extract this invoice with all its lines in order. Give the date as "
            "YYYY-MM-DD, and null where a thing is not on the page."
        ),
        schema=opened(
            {
                "invoice_number": described("string"),
                "issued": described("string", "YYYY-MM-DD"),
                "seller": described("string"),
                "buyer": described("string"),
                "currency": one_of("EUR", "GBP", "USD"),
                "lines": listed(
                    closed(
                        {
                            "description": described("string"),
                            "quantity": described("integer"),
                            "unit_price": described("number"),
                            "amount": described("number"),
                        }
                    )
                ),
                "number_of_lines": described("integer"),
                "total": described("number"),
                "is_paid": described("boolean"),
                "order_number": nullable("string"),
                "vat_number": nullable("string"),
            },
            optional=("vat_number",),
        ),
        truth={
            "invoice_number": stated(number, head),
            "issued": stated(issued.isoformat(), dated),
            "seller": stated(seller, sold),
            "buyer": stated(buyer, bought),
            "currency": stated(currency, total_line),
            "lines": [{**line} for line in lines],
            "number_of_lines": derived(
                len(rows),
                "count",
                tuple(amounts),
                *(f"| {' | '.join(row)} |" for row in rows),
            ),
            "total": stated(total, total_line),
            "is_paid": affirmed(stamp) if paid else denied(stamp),
            "order_number": stated(order, order_line.strip())
            if has_order
            else absent("order", "PO"),
            "vat_number": absent("VAT", "tax"),
        },
        difficulty="hard",
    )


def water_report(draw: Draw) -> Draft:
    """A table of readings against limits; an older table stands on the same page."""
    station, laboratory = draw.word("town"), draw.company()
    sampled = draw.day(2015, 2024)
    older = draw.day(2010, 2014)
    rows, old_rows, readings, above = [], [], [], []
    for parameter in draw.words("parameter", draw.number(3, 4)):
        has_limit = draw.chance(0.75)
        limit = draw.number(5, 90)
        value = draw.number(10, 1_200) / 10
        exceeds = has_limit and value > limit
        row = [parameter, f"{value:g}", "mg/l", str(limit) if has_limit else "none set"]
        quote = f"| {' | '.join(row)} |"
        rows.append(row)
        old_rows.append([parameter, f"{value + draw.number(1, 40):g}", "mg/l", row[3]])
        if exceeds:
            above.append((value, quote))
        readings.append(
            {
                "parameter": stated(parameter, quote),
                "value_mg_per_l": stated(value, quote),
                "limit_mg_per_l": stated(limit, quote) if has_limit else unknown(quote),
                "exceeds_limit": derived(exceeds, "above", (value, limit), quote)
                if has_limit
                else denied(quote),
            }
        )
    accredited = draw.chance(0.6)
    standing = (
        "The laboratory is accredited for drinking water."
        if accredited
        else "The laboratory is not accredited for drinking water."
    )
    place = f"Station: {station} waterworks"
    when = f"Sampled on {written(sampled)}"
    who = f"Analysed by {laboratory}"
    head = ["Parameter", "Result", "Unit", "Limit"]
    context = (
        f"DRINKING WATER REPORT - file copy\n\n{place}\n{when}, 07:40\n{who}\n\n"
        f"{_table(head, rows)}\n\n{standing}\n\n"
        f"For comparison: sampled on {written(older)}\n\n{_table(head, old_rows)}\n\n"
        "Form 12-b, continued overleaf"
    )
    return Draft(
        context=context,
        question=(
            f"Report the readings sampled on {written(sampled)}, in the order of the "
            "table, with their limits and whether each exceeds its limit. A parameter "
            "without a limit has null as its limit and exceeds nothing."
        ),
        schema=closed(
            {
                "station": described("string", "name of the place alone"),
                "sampled_on": described("string", "YYYY-MM-DD"),
                "laboratory": described("string"),
                "is_accredited": described("boolean"),
                "readings": listed(
                    closed(
                        {
                            "parameter": described("string"),
                            "value_mg_per_l": described("number"),
                            "limit_mg_per_l": nullable("number"),
                            "exceeds_limit": described("boolean"),
                        }
                    )
                ),
                "number_above_limit": described("integer"),
                "sampler": nullable("string", "who took the sample"),
            },
            optional=("sampler",),
        ),
        truth={
            "station": stated(station, place),
            "sampled_on": stated(sampled.isoformat(), when),
            "laboratory": stated(laboratory, who),
            "is_accredited": affirmed(standing) if accredited else denied(standing),
            "readings": [{**reading} for reading in readings],
            "number_above_limit": derived(
                len(above),
                "count",
                tuple(value for value, _ in above),
                *[quote for _, quote in above] or [rows[0][0]],
            ),
            "sampler": absent("sampler", "taken by", "collected by"),
        },
        difficulty="hard",
    )


def data_sheet(draw: Draw) -> Draft:
    """A part in two columns that OCR has run together, in centimetres."""
    maker, town = draw.company(), draw.word("town")
    name = draw.word("goods")
    number = f"{draw.random.choice('KLMNPR')}-{draw.number(200, 990)}"
    sides = [draw.number(12, 940) for _ in range(3)]
    sizes = " x ".join(f"{side / 10:g}" for side in sides)
    size_line = f"Size (L x W x H): {sizes} cm"
    grams = draw.number(35, 4_800)
    mass_line = f"Mass: {grams / 1_000:g} kg net"
    colours = draw.words("colour", draw.number(2, 4))
    colour_line = f"Finishes: {', '.join(colours)}"
    has_warranty = draw.chance(0.6)
    months = draw.random.choice([12, 18, 24, 36])
    warranty = f"Warranty: {months} months" if has_warranty else ""
    outdoor = draw.chance()
    use = "Suitable for outdoor use" if outdoor else "Not suitable for outdoor use"
    head = f"{name} {number}"
    made = f"{maker}, {town}"
    context = "\n".join(
        filter(
            None,
            [
                f"DATA SHEET          Rev. {draw.random.choice('BCDE')}",
                f"# {head}",
                "",
                f"{size_line}          Packed size: {sides[0] / 10 + 4:g} cm cube",
                f"{mass_line}          Gross: {(grams + 350) / 1_000:g} kg",
                f"{colour_line}          (others on request)",
                f"{use}.          {warranty}",
                "",
                _table(
                    ["Replaces", "Mass"],
                    [[f"{number}/old", f"{(grams + 90) / 1_000:g} kg"]],
                ),
                "",
                f"{made}          printed in {draw.word('town')}",
            ],
        )
    )
    names = ("length", "width", "height")
    return Draft(
        context=context,
        question=(
            f"Extract the data of {head}: its own size in millimetres and its net mass "
            "in grams, its finishes in the order given, and null for what the sheet "
            "does not say."
        ),
        schema=closed(
            {
                "part": closed(
                    {
                        "name": described("string"),
                        "number": described("string"),
                        "maker": described("string"),
                        "outdoor_use": described("boolean"),
                    }
                ),
                "size_mm": closed({side: described("number") for side in names}),
                "net_mass_g": described("number"),
                "finishes": listed(described("string")),
                "warranty_months": nullable("integer"),
                "certificate": nullable("string"),
            },
            optional=("certificate",),
        ),
        truth={
            "part": {
                "name": stated(name, head),
                "number": stated(number, head),
                "maker": stated(maker, made),
                "outdoor_use": affirmed(use) if outdoor else denied(use),
            },
            "size_mm": {
                side: derived(length, "times 10", (length / 10,), size_line)
                for side, length in zip(names, sides, strict=True)
            },
            "net_mass_g": derived(grams, "times 1000", (grams / 1_000,), mass_line),
            "finishes": [stated(colour, colour_line) for colour in colours],
            "warranty_months": stated(months, warranty)
            if has_warranty
            else absent("warranty", "guarantee", "months"),
            "certificate": absent("certificate", "certified"),
        },
    )
