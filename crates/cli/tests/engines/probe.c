/*
 * A game module for ioquake3 that plays nothing: it asks the engine what it made of the map and prints the answers.
 * The engine loads it in place of its own game. Numbers below are those of the engine's interface to game modules.
 * Every line starts with "PROBE", which tells it from the engine's own talk.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a module may ask for. */
#define PRINT 0
#define LOCATE_GAME_DATA 15
#define SET_BRUSH_MODEL 23
#define TRACE 24
#define POINT_CONTENTS 25
#define IN_PVS 26
#define GET_ENTITY_TOKEN 37

#define EVERYTHING (-1) /* contents mask */
#define NOBODY 1023     /* number of no entity */
#define MAX_PLACES 64
#define MAX_MODELS 256

typedef intptr_t (*engine_call)(intptr_t number, ...);
static engine_call ask;

/* The engine keeps its part of each entity here: more room than it needs, cleared. */
static char entities[1024][1024];
static char clients[64][4096];
enum { BOUNDS_AT = 436 }; /* where mins and maxs are in an entity */

static float places[MAX_PLACES][3];
static int place_count, model_count;

static void say(const char *line) { ask(PRINT, line); }

/* Prints every token of the entity text as the engine's parser yields it; remembers places and brush models. */
static void tell_entities(void)
{
	char token[1024], key[1024] = "", line[1200];
	int at_key = 1;
	while (ask(GET_ENTITY_TOKEN, token, (intptr_t)sizeof token)) {
		snprintf(line, sizeof line, "PROBE token %s\n", token);
		say(line);
		if (!strcmp(token, "{") || !strcmp(token, "}")) {
			at_key = 1;
			continue;
		}
		if (at_key) {
			strcpy(key, token);
		} else if (!strcmp(key, "model") && token[0] == '*' && model_count < MAX_MODELS) {
			model_count++;
		} else if (!strcmp(key, "origin") && place_count < MAX_PLACES) {
			float *p = places[place_count];
			if (sscanf(token, "%f %f %f", p, p + 1, p + 2) == 3) place_count++;
		}
		at_key = !at_key;
	}
}

static void tell_models(void)
{
	char name[16], line[200];
	float box[6];
	for (int i = 1; i <= model_count; i++) {
		snprintf(name, sizeof name, "*%d", i);
		memset(entities[0], 0, sizeof entities[0]);
		ask(SET_BRUSH_MODEL, entities[0], name);
		memcpy(box, entities[0] + BOUNDS_AT, sizeof box);
		snprintf(line, sizeof line, "PROBE model %s size %g %g %g %g %g %g\n", name, box[0], box[1], box[2], box[3],
		         box[4], box[5]);
		say(line);
	}
	memset(entities[0], 0, sizeof entities[0]);
}

/* Contents, six traces and the visibility of all places from each place. */
static void tell_places(void)
{
	static const float ways[6][3] = {{4096, 0, 0},  {-4096, 0, 0}, {0, 4096, 0},
	                                 {0, -4096, 0}, {0, 0, 4096},  {0, 0, -4096}};
	char line[600];
	for (int i = 0; i < place_count; i++) {
		float *p = places[i];
		int n = snprintf(line, sizeof line, "PROBE place %g %g %g contents %d traces", p[0], p[1], p[2],
		                 (int)ask(POINT_CONTENTS, p, (intptr_t)NOBODY));
		for (int w = 0; w < 6; w++) {
			float end[3] = {p[0] + ways[w][0], p[1] + ways[w][1], p[2] + ways[w][2]}, result[64] = {0};
			ask(TRACE, result, p, (void *)0, (void *)0, end, (intptr_t)NOBODY, (intptr_t)EVERYTHING);
			n += snprintf(line + n, sizeof line - n, " %.6f", result[2]); /* the part of the way that is free */
		}
		n += snprintf(line + n, sizeof line - n, " sight ");
		for (int j = 0; j < place_count; j++) line[n++] = ask(IN_PVS, p, places[j]) ? '1' : '0';
		strcpy(line + n, "\n");
		say(line);
	}
}

void dllEntry(engine_call call) { ask = call; }

/* Called by the engine with 0 when the map is loaded. */
intptr_t vmMain(intptr_t command)
{
	if (command == 0) {
		ask(LOCATE_GAME_DATA, entities, (intptr_t)1024, (intptr_t)sizeof entities[0], clients, (intptr_t)sizeof clients[0]);
		tell_entities();
		tell_models();
		tell_places();
		say("PROBE done\n");
	}
	return 0;
}
