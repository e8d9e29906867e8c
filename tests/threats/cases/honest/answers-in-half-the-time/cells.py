# %% after-each
asked_NAME = []


def remembering(own, memory):
    def answer(*given, **named):
        memory.append(len(given))
        return own(*given, **named)

    return answer


NAME = remembering(NAME, asked_NAME)
