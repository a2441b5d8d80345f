#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#define FIXTURE_MAX 64

struct topology *fixture_create(const char *name)
{
	struct topology *topology = calloc(1, sizeof(*topology));

	topology->name = strdup(name);
	topology->file = strdup("fixture.yaml");
	topology->lab = true;
	topology->hosts = calloc(FIXTURE_MAX, sizeof(*topology->hosts));
	topology->links = calloc(FIXTURE_MAX, sizeof(*topology->links));
	return topology;
}

struct topology_host *fixture_host(struct topology *topology, const char *name)
{
	struct topology_host *host = &topology->hosts[topology->host_count++];

	host->name = strdup(name);
	host->mark = (struct topology_mark){(int)topology->host_count, 3};
	host->transport = TOPOLOGY_NONE;
	return host;
}

static void fill_end(struct topology *topology, struct topology_end *end, const char *text)
{
	char *copy = strdup(text), *address = strchr(copy, '@'), *interface = strchr(copy, ':');

	if (address) {
		*address = '\0';
		end->address = strdup(address + 1);
	}
	*interface = '\0';
	end->interface = strdup(interface + 1);
	end->device = strdup(interface + 1);
	end->device[strcspn(end->device, ":")] = '\0';
	for (size_t i = 0; i < topology->host_count; i++)
		if (!strcmp(topology->hosts[i].name, copy))
			end->host = i;
	end->mark = (struct topology_mark){(int)(100 + topology->link_count), 5};
	free(copy);
}

struct topology_link *fixture_link(
	struct topology *topology, const char *name, const char *a, const char *b)
{
	struct topology_link *link = &topology->links[topology->link_count++];

	link->name = strdup(name);
	fill_end(topology, &link->a, a);
	fill_end(topology, &link->b, b);
	return link;
}

void fixture_path(struct topology *topology, size_t count)
{
	struct topology_path *path = calloc(1, sizeof(*path));
	size_t at = 0;

	path->name = strdup("path");
	path->link_count = count;
	path->hosts = calloc(count + 1, sizeof(*path->hosts));
	path->links = calloc(count, sizeof(*path->links));
	path->flipped = calloc(count, sizeof(*path->flipped));
	for (size_t i = 0; i < count; i++) {
		const struct topology_link *link = &topology->links[i];

		path->links[i] = i;
		path->flipped[i] = link->b.host == at;
		at = link->a.host == at ? link->b.host : link->a.host;
		path->hosts[i + 1] = at;
	}
	topology->paths = path;
	topology->path_count = 1;
}

struct topology *fixture_home(void)
{
	struct topology *topology = fixture_create("home");

	fixture_host(topology, "pc1");
	fixture_host(topology, "router");
	fixture_host(topology, "pc2");
	fixture_link(topology, "wan", "pc1:eth0", "router:eth0");
	fixture_link(topology, "wlan", "router:wlan0", "pc2:wlan0");
	fixture_path(topology, 2);
	return topology;
}

static void free_end(struct topology_end *end)
{
	free(end->interface);
	free(end->device);
	free(end->address);
}

static void free_host(struct topology_host *host)
{
	for (size_t i = 0; i < host->lab.bridge_count; i++)
		free(host->lab.bridge[i]);
	free(host->lab.bridge);
	free(host->name);
	free(host->ssh.host);
	free(host->ssh.user);
	free(host->ssh.identity);
	free(host->ssh.known_hosts);
	free(host->ssh.proxy_command);
}

void fixture_destroy(struct topology *topology)
{
	for (size_t i = 0; i < topology->host_count; i++)
		free_host(&topology->hosts[i]);
	for (size_t i = 0; i < topology->link_count; i++) {
		free(topology->links[i].name);
		free_end(&topology->links[i].a);
		free_end(&topology->links[i].b);
	}
	for (size_t i = 0; i < topology->path_count; i++) {
		free(topology->paths[i].name);
		free(topology->paths[i].hosts);
		free(topology->paths[i].links);
		free(topology->paths[i].flipped);
	}
	free(topology->paths);
	free(topology->hosts);
	free(topology->links);
	free(topology->name);
	free(topology->file);
	free(topology);
}
