#include "family.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

struct row {
	unsigned machine;
	unsigned char class, data;
	const char *family;
};

/* x32 programs run on x86_64 kernels only, so they stand for it. 64-bit MIPS need not run o32. */
static const struct row rows[] = {
	{EM_X86_64, ELFCLASS64, ELFDATA2LSB, "x86_64"},
	{EM_X86_64, ELFCLASS32, ELFDATA2LSB, "x86_64"},
	{EM_386, ELFCLASS32, ELFDATA2LSB, "i386"},
	{EM_ARM, ELFCLASS32, ELFDATA2LSB, "armel"},
	{EM_AARCH64, ELFCLASS64, ELFDATA2LSB, "aarch64"},
	{EM_MIPS, ELFCLASS32, ELFDATA2LSB, "mipsel"},
	{EM_MIPS, ELFCLASS32, ELFDATA2MSB, "mips"},
	{EM_RISCV, ELFCLASS64, ELFDATA2LSB, "riscv64"},
};

const char *family_of(const unsigned char *header, char *ret_description, size_t size)
{
	unsigned char class = header[EI_CLASS], data = header[EI_DATA];
	/* e_machine follows e_ident and e_type in both classes. */
	unsigned first = header[EI_NIDENT + 2], second = header[EI_NIDENT + 3];
	unsigned machine = data == ELFDATA2MSB ? first << 8 | second : second << 8 | first;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];

		if (row->machine == machine && row->class == class && row->data == data) {
			snprintf(ret_description, size, "%s", row->family);
			return row->family;
		}
	}
	snprintf(ret_description, size, "ELF machine %u, %d-bit, %s endian", machine,
		class == ELFCLASS64 ? 64 : 32, data == ELFDATA2MSB ? "big" : "little");
	return NULL;
}
