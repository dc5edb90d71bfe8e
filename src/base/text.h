/* UTF-8 by bytes, digits; all else about text is in wattle/text.h. */
#ifndef WT_BASE_TEXT_H
#define WT_BASE_TEXT_H

#include "wattle/text.h"

/* Bytes of the UTF-8 sequence at the start of the text; 0 when it is none. */
size_t wt_utf8_length(const char *text, size_t bytes);
/* wt_utf8_valid of text that has so many bytes and no zero byte among them. */
bool wt_utf8_valid_bytes(const char *text, size_t bytes);

/* Writes the digits of a number, without a zero behind them, several times as fast as printf;
 * returns their end. */
enum { WT_WHOLE_DIGITS = 24 }; /* room for any, with a sign */
char *wt_whole_add(char *out, uint64_t number);

#endif
