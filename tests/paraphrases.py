"""Traces of our own, each with a good paraphrase and five bad ones."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    problem: str
    answer: str
    trace: str
    good: str
    changed_number: str
    dropped_step: str
    afresh: str

    @property
    def copied(self) -> str:
        return self.trace.replace("The answer", "So the answer")

    @property
    def announced(self) -> str:
        return f"Here is the solution in other words:\n{self.good}"


SAMPLES = [
    Sample(
        "Rita picks 14 plums and twice as many pears. She eats 5. How many are left?", "37",
        "She picks 14 * 2 = 28 pears.\nThat makes 14 + 28 = 42 fruits.\n"
        "After eating there are 42 - 5 = 37.\nThe answer is 37.",
        "Rita's pears number 14 * 2 = 28.\nTogether with the plums this comes to 14 + 28 = 42.\n"
        "Once 5 are gone, 42 - 5 = 37 remain.\nThe answer is 37.",
        "Rita's pears number 14 * 2 = 26.\nWith the plums this comes to 14 + 28 = 42.\n"
        "Once 5 are gone, 42 - 5 = 37 remain.\nThe answer is 37.",
        "With the plums this comes to 42 fruits.\nOnce 5 are gone, 42 - 5 = 37 remain.\n"
        "The answer is 37.",
        "Let x be the plums, so the total is 3x - 5.\nFor x = 14 that is 3 * 14 - 5.\n"
        "The answer is 37.",
    ),
    Sample(
        "A bus seats 45. 6 buses are full but for 9 seats. How many people ride?", "261",
        "All the seats are 45 * 6 = 270.\nTaking off the empty ones leaves 270 - 9 = 261.\n"
        "The answer is 261.",
        "Six buses offer 45 * 6 = 270 places.\nSince 9 stay empty, 270 - 9 = 261 people ride.\n"
        "The answer is 261.",
        "The buses offer 45 * 7 = 270 places.\nSince 9 stay empty, 270 - 9 = 261 people ride.\n"
        "The answer is 261.",
        "Since some places stay empty, 261 people ride in all of them.\nThe answer is 261.",
        "Five buses are full, which is 225 people.\nThe sixth carries 36.\nThe answer is 261.",
    ),
    Sample(
        "Ken reads 18 pages a day for 7 days and 30 pages on the last. How many pages?", "156",
        "In the week he reads 18 * 7 = 126 pages.\nWith the last day it is 126 + 30 = 156.\n"
        "The answer is 156.",
        "A week of reading gives Ken 18 * 7 = 126 pages.\nAdding the final day, 126 + 30 = 156.\n"
        "The answer is 156.",
        "A week of reading gives Ken 18 * 7 = 126 pages.\nAdding the final day, 126 + 20 = 156.\n"
        "The answer is 156.",
        "Adding the final day to the week he gets to 156 pages.\nThe answer is 156.",
        "His mean over the days is 19.5 pages.\nThere are 8 days.\nThe answer is 156.",
    ),
    Sample(
        "A shirt costs 24 dollars, a coat 3 times as much. Mia pays with 100. What change?", "4",
        "The coat costs 24 * 3 = 72 dollars.\nTogether they cost 24 + 72 = 96 dollars.\n"
        "Her change is 100 - 96 = 4 dollars.\nThe answer is 4.",
        "For the coat she pays 24 * 3 = 72 dollars.\nBoth pieces come to 24 + 72 = 96 dollars.\n"
        "From 100 she gets back 100 - 96 = 4 dollars.\nThe answer is 4.",
        "For the coat she pays 24 * 3 = 72 dollars.\nBoth pieces come to 24 + 71 = 96 dollars.\n"
        "From 100 she gets back 100 - 96 = 4 dollars.\nThe answer is 4.",
        "For the coat she pays 24 * 3 = 72 dollars.\nFrom 100 she gets back 4 dollars.\n"
        "The answer is 4.",
        "She buys four shirts' worth of clothes.\nFour times 25 would be 100, one dollar each "
        "too much.\nThe answer is 4.",
    ),
    Sample(
        "There are 96 beads. A third are red, 20 are blue, the rest green. How many green?", "44",
        "The red ones are 96 / 3 = 32.\nRed and blue make 32 + 20 = 52.\n"
        "Green are 96 - 52 = 44.\nThe answer is 44.",
        "One third of the beads is 96 / 3 = 32, which are red.\nCounting the blue ones too gives "
        "32 + 20 = 52.\nSo 96 - 52 = 44 must be green.\nThe answer is 44.",
        "One third of the beads is 96 / 3 = 33, which are red.\nCounting the blue ones too gives "
        "32 + 20 = 52.\nSo 96 - 52 = 44 must be green.\nThe answer is 44.",
        "One third of the beads is 96 / 3 = 32, which are red.\nSo 44 must be green.\n"
        "The answer is 44.",
        "Two thirds are not red, that is 64.\nWithout the 20 blue ones this leaves 44.\n"
        "The answer is 44.",
    ),
    Sample(
        "Tom earns 15 an hour and works 8 hours on 5 days. He spends 250. What is left?", "350",
        "A day brings 15 * 8 = 120.\nFive days bring 120 * 5 = 600.\n"
        "What is left is 600 - 250 = 350.\nThe answer is 350.",
        "Each working day is worth 15 * 8 = 120 to Tom.\nOver the week he makes 120 * 5 = 600.\n"
        "Having spent some, he keeps 600 - 250 = 350.\nThe answer is 350.",
        "Each working day is worth 15 * 8 = 120 to Tom.\nOver the week he makes 120 * 6 = 600.\n"
        "Having spent some, he keeps 600 - 250 = 350.\nThe answer is 350.",
        "Each working day is worth 15 * 8 = 120 to Tom.\nHaving spent some, he keeps 350.\n"
        "The answer is 350.",
        "He works 40 hours in the week.\nThat pays 600 and leaves 350 after spending.\n"
        "The answer is 350.",
    ),
    Sample(
        "A tank holds 500 litres. It is 40% full. 75 litres are added. How much is in it?", "275",
        "At first it holds 500 * 40 / 100 = 200 litres.\nAfterwards it is 200 + 75 = 275.\n"
        "The answer is 275.",
        "The water there to begin with is 500 * 40 / 100 = 200 litres.\nPouring in more, we reach "
        "200 + 75 = 275.\nThe answer is 275.",
        "The water there to begin with is 500 * 40 / 100 = 220 litres.\nPouring in more, we reach "
        "200 + 75 = 275.\nThe answer is 275.",
        "Pouring in more than there was to begin with, we reach 275.\nThe answer is 275.",
        "Each tenth of the tank is 50 litres, so there are four of them.\nAdding the rest gives "
        "275.\nThe answer is 275.",
    ),
    Sample(
        "Ann is 12. Her aunt is 4 times as old. How old is the aunt in 6 years?", "54",
        "The aunt is 12 * 4 = 48 years old.\nIn 6 years she is 48 + 6 = 54.\nThe answer is 54.",
        "Today her aunt's age is 12 * 4 = 48.\nWhen 6 years have passed it will be 48 + 6 = 54.\n"
        "The answer is 54.",
        "Today her aunt's age is 12 * 4 = 48.\nWhen 5 years have passed it will be 48 + 6 = 54.\n"
        "The answer is 55.",
        "Some years from today her aunt will be 54 years of age.\nThe answer is 54.",
        "In 6 years Ann is 18, and the aunt is 36 years older than she is.\nThe answer is 54.",
    ),
    Sample(
        "A farm has 35 cows and 20 fewer goats than cows. How many legs are there?", "200",
        "There are 35 - 20 = 15 goats.\nIn all there are 35 + 15 = 50 animals.\n"
        "They have 50 * 4 = 200 legs.\nThe answer is 200.",
        "Goats are fewer: 35 - 20 = 15 of them.\nCounting every animal gives 35 + 15 = 50.\n"
        "With four legs apiece that is 50 * 4 = 200.\nThe answer is 200.",
        "Goats are fewer: 35 - 20 = 15 of them.\nCounting every animal gives 35 + 15 = 60.\n"
        "With four legs apiece that is 50 * 4 = 200.\nThe answer is 200.",
        "Goats are fewer: 35 - 20 = 15 of them.\nWith four legs apiece that is 200.\n"
        "The answer is 200.",
        "The cows have 140 legs.\nThe goats have 60 more.\nThe answer is 200.",
    ),
    Sample(
        "Sam has 8 boxes of 12 pens. He gives away a quarter of them. How many stay?", "72",
        "He has 8 * 12 = 96 pens.\nHe gives away 96 / 4 = 24.\nThere stay 96 - 24 = 72.\n"
        "The answer is 72.",
        "All boxes together contain 8 * 12 = 96 pens.\nA quarter of those is 96 / 4 = 24.\n"
        "Sam is left with 96 - 24 = 72.\nThe answer is 72.",
        "All boxes together contain 8 * 12 = 96 pens.\nA quarter of those is 96 / 4 = 23.\n"
        "Sam is left with 96 - 24 = 72.\nThe answer is 72.",
        "All boxes together contain 8 * 12 = 96 pens.\nSam is left with 72 of those.\n"
        "The answer is 72.",
        "Three quarters of 8 boxes are 6 boxes.\nThese hold 6 * 12 pens.\nThe answer is 72.",
    ),
    Sample(
        "A ride costs 3 dollars and 2 more a mile. Joe rides 11 miles and tips 5. His cost?", "30",
        "The miles cost 11 * 2 = 22.\nWith the start it is 22 + 3 = 25.\n"
        "With the tip it is 25 + 5 = 30.\nThe answer is 30.",
        "For the distance Joe owes 11 * 2 = 22.\nGetting in makes it 22 + 3 = 25.\nHis tip brings "
        "the bill to 25 + 5 = 30.\nThe answer is 30.",
        "For the distance Joe owes 11 * 2 = 24.\nGetting in makes it 22 + 3 = 25.\nHis tip brings "
        "the bill to 25 + 5 = 30.\nThe answer is 30.",
        "For the distance Joe owes 11 * 2 = 22.\nHis tip and getting in bring the bill to 30.\n"
        "The answer is 30.",
        "Start and tip are 8 dollars whatever he rides.\nThe other 22 are for the miles.\n"
        "The answer is 30.",
    ),
    Sample(
        "48 chairs stand in rows of 6. 2 rows are taken away. How many chairs stand?", "36",
        "There are 48 / 6 = 8 rows.\nAfter that there are 8 - 2 = 6 rows.\n"
        "They hold 6 * 6 = 36 chairs.\nThe answer is 36.",
        "To begin with, 48 / 6 = 8 rows are set up.\nRemoving some leaves 8 - 2 = 6 of them.\n"
        "Those rows seat 6 * 6 = 36.\nThe answer is 36.",
        "To begin with, 48 / 6 = 9 rows are set up.\nRemoving some leaves 8 - 2 = 6 of them.\n"
        "Those rows seat 6 * 6 = 36.\nThe answer is 36.",
        "To begin with, rows of 6 are set up from 48 chairs.\nIn the end 36 of them stand.\n"
        "The answer is 36.",
        "Two rows are 12 chairs, and without those we have 36.\nThe answer is 36.",
    ),
]  # fmt: skip
BAD = ("changed_number", "dropped_step", "afresh", "copied", "announced")
