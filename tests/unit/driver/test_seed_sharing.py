"""The seed's packages are built in processes that take about as long as each other."""

from pathlib import Path

from flbuild.seed.recipes import Recipe, share_out


def recipe(name: str, seconds: float) -> Recipe:
    return Recipe(name, Path(name), (f"{name}.conda",), seconds=seconds)


def test_each_recipe_is_in_one_group_and_the_groups_are_even():
    recipes = [recipe("torch", 46), *(recipe(f"small{i}", 2) for i in range(20)), recipe("big", 30)]
    groups = share_out(recipes, 2)
    assert sorted(r.name for group in groups for r in group) == sorted(r.name for r in recipes)
    times = [sum(r.seconds for r in group) for group in groups]
    assert max(times) - min(times) <= 2


def test_fewer_recipes_than_workers():
    assert share_out([recipe("one", 1)], 2) == [[recipe("one", 1)]]
    assert share_out([], 2) == []
