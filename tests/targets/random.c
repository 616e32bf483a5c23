/* The library bcryptprimitives.dll for versions of wine that have none: random bytes from the function that older programs use. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T size)
{
    return SystemFunction036(bytes, (ULONG)size);
}
