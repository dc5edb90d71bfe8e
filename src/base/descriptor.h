/* Numbers of open files. */
#ifndef WT_BASE_DESCRIPTOR_H
#define WT_BASE_DESCRIPTOR_H

/* Moves a file just opened above the three streams, close-on-exec: where a stream was closed, an
 * open takes its number, and words meant for the stream would be written into the file. Returns the
 * new number, or -1 with errno, as for a file that is -1 already. */
int wt_descriptor_move(int file);

#endif
