"""Answers made to hang, crash or exhaust whatever checks them."""

TEMPLATES = (
    "9^{{9^{{9^{{{n}}}}}}}",
    "9**9**9**{n}",
    "{n}9999999^{{99999999}}",
    "(1/{n})^{{300000000}}",
    "x^{{{n}00000000}} + \\sqrt{{x}}",
    "{n}00000000!",
    "\\binom{{{n}00000000}}{{50000000}}",
    "\\sum_{{k=1}}^{{{n}000000000}} \\frac{{1}}{{k}}",
    "\\prod_{{k=1}}^{{{n}00000}} \\sqrt{{k}}",
    "\\gcd(10^{{{n}00}}+1, 7^{{5000000}})",
    "\\sqrt{{x}} + (x+{n})^{{2000}}",
    "\\sin((x+y+{n})^{{900}})",
    "\\log_{{2^5}}(\\log_{{2^4}}(\\log_{{2^3}}({n}^{{2^{{64}}}})))",
    "\\sum_{{k=1}}^{{{n}00}} \\frac{{1}}{{k+\\sqrt{{k}}}}",
    "\\int_0^1 \\sqrt{{{n}+x^5}} \\sin(x^3) dx",
    "\\prod_{{k=1}}^{{99}} (x^k+{n}+\\sqrt{{x}})",
    "(x+y+z+w+\\sqrt{{{n}}})^{{300}}",
    "\\sqrt{{x+\\sqrt{{x+\\sqrt{{x+\\sqrt{{x+\\sqrt{{{n}+x}}}}}}}}}}^{{99}}",
    "\\lim_{{x \\to 0}} \\frac{{\\sin(x^{{{n}9}})}}{{\\tan(x^{{98}})}}",
)


def hostile_answers() -> list[str]:
    grown = [template.format(n=n) for template in TEMPLATES for n in range(2, 11)]
    deep = [opening * n + "7" + closing * n for n in (50, 400, 900) for opening, closing in PAIRS]
    long = [
        sign * 3_000 for sign in ("9", "x", "(", "{", "\\frac{1}", "-", "1,", "\\sqrt", "^", "\\pm")
    ]
    return [*grown, *deep, *long]


PAIRS = (
    ("((", "))"), ("\\frac{1}{", "}"), ("\\sqrt{", "}"), ("x^{", "}"), ("\\{", "\\}"), ("[1,", "]"),
)  # fmt: skip
